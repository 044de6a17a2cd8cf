"""The folder of `commands.skills`: every folder in it that has a `SKILL.md` is a skill (IN-65)."""

from pathlib import Path

from rejoinder.errors import BadConfiguration
from rejoinder.inbound.skills import Skill, read_skill

FILE = "SKILL.md"


def read_skills(folder: str) -> tuple[Skill, ...]:
    """The skills by name; raises BadConfiguration with the file that is wrong and why."""
    root = Path(folder)
    if not root.is_dir():
        raise BadConfiguration(
            f"{folder!r}: there is no such folder; make it, or take the key out", about="commands.skills = "
        )
    found: dict[str, tuple[Skill, Path]] = {}
    for file in sorted(root.glob(f"*/{FILE}")):
        skill = _read(file)
        if skill.name in found:
            raise BadConfiguration(f"{file}: {found[skill.name][1]} is called {skill.name!r} too; rename one of them")
        found[skill.name] = skill, file
    return tuple(skill for skill, _ in found.values())


def _read(file: Path) -> Skill:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadConfiguration(f"{file}: it is not UTF-8 text") from None
    except OSError as problem:
        raise BadConfiguration(f"{file}: it cannot be read: {problem.strerror}") from None
    skill = read_skill(text, str(file.parent))
    if skill.tool:
        raise BadConfiguration(f"{file}: there is no tool called {skill.tool!r}; leave out the `tool:` line")
    if not skill.instructions:
        raise BadConfiguration(f"{file}: it has no text; write below its header what the agent is to do")
    return skill
