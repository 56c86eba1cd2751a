"""The driver of the native engine: roots, requests and answers, saving."""
