"""JSON texts from outside: parsed strictly, or cut into the values that they hold."""
