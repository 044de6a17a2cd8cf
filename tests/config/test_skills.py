"""The folder of `commands.skills`: read at the start, or refused with the file and the reason."""

import pytest

from rejoinder.config.skills import read_skills
from rejoinder.errors import BadConfiguration
from rejoinder.inbound.skills import Skill


def write(folder, **texts):
    for name, text in texts.items():
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_bytes(text)
    return str(folder)


def test_every_folder_with_a_skill_file_is_a_skill(tmp_path):
    """IN-65: by the name in the head, else by the folder's."""
    folder = write(tmp_path, poem=b"---\ndescription: Rhymes.\n---\nFour lines.", b=b"---\nname: song\n---\nSing.")
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").write_text("not one of them")
    assert read_skills(folder) == (Skill("song", "", "Sing."), Skill("poem", "Rhymes.", "Four lines."))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"poem": b"---\nname: x"}, r"poem/SKILL.md: its header begins with --- but does not end"),
        ({"poem": b"\xff\xfe"}, r"poem/SKILL.md: it is not UTF-8 text"),
        ({"poem": b""}, r"poem/SKILL.md: it has no text"),
        ({"poem": b"---\ntool: time\n---\nx"}, r"poem/SKILL.md: there is no tool called 'time'"),
        ({"a": b"---\nname: x\n---\nx", "b": b"---\nname: X\n---\nx"}, r"b/SKILL.md: .*a/SKILL.md is called 'x' too"),
        ({"two words": b"x"}, r"two words/SKILL.md: 'two words' cannot be typed as a command"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(tmp_path, files, said):
    with pytest.raises(BadConfiguration, match=said):
        read_skills(write(tmp_path, **files))


def test_a_folder_that_is_not_there():
    with pytest.raises(BadConfiguration, match=r"commands.skills = 'nowhere': there is no such folder"):
        read_skills("nowhere")
