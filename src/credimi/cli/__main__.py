"""`python -m credimi.cli`."""

import sys

from credimi.cli import main

sys.exit(main())
