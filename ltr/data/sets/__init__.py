"""The data sets that ``data=`` names: one function each, which yields the Splits."""
