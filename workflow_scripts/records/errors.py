"""Errors that a user can act on."""


class UserError(Exception):
    """A user's input, config or file is wrong; the message says which file, key or row, and the way out.

    Stages and the command line print the message alone, without a traceback.
    """


def closest(word: str, words: list[str]) -> str:
    """`` (did you mean 'x'?)`` for a misspelt word, or nothing when none of `words` is near it."""
    from difflib import get_close_matches

    found = get_close_matches(word, words, n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""
