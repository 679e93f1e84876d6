"""Query files and packages → labelled questions over source trees."""
