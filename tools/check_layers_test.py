import check_layers

TABLE = """
| folder | may include | what it holds |
|---|---|---|
| `base` | | ground |
| `core` | `base` | middle |
| `top` | `base` `core` | top |
"""


def make_tree(root, files, table=TABLE):
    (root / "ARCHITECTURE.md").write_text(table)
    for room in ("base", "core", "top"):
        (root / "src" / room).mkdir(parents=True)
    for path, text in files.items():
        (root / "src" / path).write_text(text)


def problems(root):
    return check_layers.check(root)[0]


def test_allowed_includes_pass(tmp_path):
    make_tree(tmp_path, {"top/a.cc": '#include "core/b.h"\n#include "top/a.h"\n#include <vector>\n'})
    assert problems(tmp_path) == []


def test_an_upward_include_is_named_with_file_and_line(tmp_path):
    make_tree(tmp_path, {"core/b.h": '#pragma once\n#include "top/a.h"\n'})
    assert problems(tmp_path) == ["src/core/b.h:2: core may not include top"]


def test_a_circle_in_the_table_is_found(tmp_path):
    make_tree(tmp_path, {}, TABLE.replace("| `base` | |", "| `base` | `top` |"))
    assert any("circle" in problem for problem in problems(tmp_path))


def test_table_and_folders_must_agree(tmp_path):
    make_tree(tmp_path, {}, TABLE + "| `gone` | `base` | |\n")
    (tmp_path / "src" / "extra").mkdir()
    assert len(problems(tmp_path)) == 2
