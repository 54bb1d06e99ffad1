# Prints cutoff, exponent and distance that poweRlaw estimates for one file of counts per argument.
suppressMessages(library(poweRlaw))
for (path in commandArgs(trailingOnly = TRUE)) {
  model <- displ$new(scan(path, quiet = TRUE))
  fit <- estimate_xmin(model, xmax = 1e9, pars = NULL)
  cat(fit$xmin, format(fit$pars, digits = 12), format(fit$gof, digits = 12), "\n")
}
