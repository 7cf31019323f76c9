"""Lessons that compute: `seq2see learn NAME` in a terminal, as an HTML page, as a notebook; in English and Korean.

    from seq2see.learn import load_lesson
    from seq2see.learn.workshop import Workshop     where trained models and measurements are kept
    workshop = Workshop(quick=True)
    page = load_lesson("dot").page(workshop, {"query": (4, 1)})
    page.sections[0].blocks                         texts, matrices, tables, charts, quotes, maps

Everything a lesson says of numbers it computes when it is asked, with the rooms that train and translate.
Importing this room imports no torch: the list of lessons has to appear at once.

How to add a lesson, say *heads*:

1. texts/heads.py: one `Wording(english, korean)` for each thing that is said, as a constant of the module; at least
   TITLE, SUMMARY (the line of the list), QUESTION and ANSWER. A number is a blank with its format, `{entropy:.2f}`,
   never typed. Korean in 합니다체, a term of the field in brackets where it first occurs: 헤드(head).
2. lessons/heads.py: a `LessonSettings` with what `--set` may change (at least one thing), small functions that compute
   with the library, `teach(settings, workshop) -> LessonPage`, and LESSON = Lesson("heads", ...) at the end.
   Sections are made of blocks.py; `quote(formula, function, first, last)` reads the lines that compute a formula
   from the source. A section's `code` is a cell of the notebook: it calls the module's own functions, and whatever
   these need of the module (imports, constants, other functions) is copied into the cell.
3. What takes more than seconds goes through the workshop: `trained(name, settings)` is a run folder,
   `measured(name, made_from, function)` is JSON; both are made once. `workshop.quick` asks for seconds instead of
   minutes.
4. catalogue.py: a line in CATALOGUE and a case in `load_lesson`. docs/house.md: both files.
5. tests/learn/test_lessons.py walks over CATALOGUE: both languages, 80 columns, page, notebook, every attempt. Numbers
   that the lesson claims are recomputed another way in tests/learn/test_<name>.py.
"""

from seq2see.learn.catalogue import CATALOGUE, Outline, load_lesson, outline
from seq2see.learn.wording import LANGUAGES, Language, Wording

__all__ = ["CATALOGUE", "LANGUAGES", "Language", "Outline", "Wording", "load_lesson", "outline"]
