"""Run the command line: ``python -m coretail``."""

from coretail.cli import main

raise SystemExit(main())
