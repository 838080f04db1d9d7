"""Letter Boxed: chain words around a polygon until every letter is used."""
