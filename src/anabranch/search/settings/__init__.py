"""What a search can be told, declared once and checked where it comes in."""
