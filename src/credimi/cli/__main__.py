"""`python -m credimi.cli`."""

from credimi.cli import command

command()
