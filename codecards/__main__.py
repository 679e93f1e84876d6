"""`python -m codecards`."""

from codecards.cli import main

main()
