"""The errors that a user of coretail can cause and can repair."""


class InputError(ValueError):
    """Input, configuration or an artefact that cannot be used.

    The message names the file, the key or row, the value, and the remedy, so that entry points
    can print it without a traceback.
    """
