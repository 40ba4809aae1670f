"""What a maths policy is given: a closed list of templates, and templates of the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass

from workflow_scripts.records.errors import UserError, closest

QUESTION = "{question}"
"""Stands for the question in a template; other braces are left alone, since questions and templates hold LaTeX."""

_BOXED = "Please reason step by step, and put your final answer within \\boxed{}."
_SYSTEM = "You are a helpful assistant."
_CHAT_MARKS = ("<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|eot_id|>", "<|endoftext|>")


@dataclass(frozen=True)
class Template:
    """user: the user's message, or the whole prompt where `chat` is false. system: before it, where not empty.

    rendered: the prompt as text, with the chat's own marks in it; empty where the policy's chat template renders it.
    stop: strings that end a completion.
    """

    user: str
    system: str = ""
    chat: bool = True
    rendered: str = ""
    stop: tuple[str, ...] = ()


TEMPLATES: Mapping[str, Template] = {
    # Qwen2.5's marks, written out: base models of that family have been trained with this text, not with a template.
    "qwen-boxed": Template(
        f"{QUESTION}\n{_BOXED}",
        _SYSTEM,
        rendered=f"<|im_start|>system\n{_SYSTEM}<|im_end|>\n<|im_start|>user\n{QUESTION}\n{_BOXED}<|im_end|>\n"
        "<|im_start|>assistant\n",
        stop=("<|im_end|>", "<|endoftext|>"),
    ),
    "chat-boxed": Template(f"{QUESTION}\n{_BOXED}"),
    "chat-minimal": Template(QUESTION),
    "plain": Template(f"Question: {QUESTION}\nAnswer:", chat=False, stop=("\n\nQuestion:",)),
}
"""By name. `qwen-boxed` is the paper's; `chat-boxed` asks the same through the policy's own chat template;
`chat-minimal` is the question alone; `plain` is for base models without a chat."""


def template(name_or_text: str) -> Template:
    """A template of the list by its name, or a plain one from a text that holds `{question}` once.

    Raises UserError for a text without it and for an unknown name.
    """
    if name_or_text in TEMPLATES:
        return TEMPLATES[name_or_text]
    if name_or_text.count(QUESTION) == 1:
        return Template(name_or_text, chat=False)
    raise UserError(
        f"{name_or_text[:80]!r} is neither a prompt template{closest(name_or_text, list(TEMPLATES))} (known: "
        f"{', '.join(TEMPLATES)}) nor a text with {QUESTION} in it once"
    )


def messages(template: Template, question: str) -> list[dict[str, str]]:
    """The chat messages of a question, for a policy's own chat template or an endpoint.

    Raises UserError where the question already holds marks of a chat: it would be templated twice.
    """
    _check(question)
    system = [{"role": "system", "content": template.system}] if template.system else []
    return [*system, {"role": "user", "content": template.user.replace(QUESTION, question)}]


def prompt_text(template: Template, question: str) -> str | None:
    """The prompt as text, for templates that need no chat template; None for those that do. Raises as `messages`."""
    _check(question)
    text = template.rendered or ("" if template.chat else template.user)
    return text.replace(QUESTION, question) if text else None


def _check(question: str) -> None:
    mark = next((mark for mark in _CHAT_MARKS if mark in question), None)
    if mark is not None:
        raise UserError(f"the question {question[:60]!r} holds {mark}: it is rendered already, or must not be asked so")
