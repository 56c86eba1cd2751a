"""What a search found: results, policies to play by, pictures and tables."""
