"""What the text of a record cannot say of an operation, by family: how it is written, read and exported
(`code=` of `known_as`)."""
