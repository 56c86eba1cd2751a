"""`python -m anabranch`: the command line."""

from __future__ import annotations

from anabranch.cli import main

raise SystemExit(main())
