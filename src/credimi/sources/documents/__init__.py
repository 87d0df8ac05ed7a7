"""Documents that hold tables: Excel workbooks, JSON arrays, databases, and files of Stata, SAS and SPSS."""
