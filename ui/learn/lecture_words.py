"""Texts of the Lecture page."""

ABOUT = "A list of pages and lessons, in states that you choose. Students follow it from one link."
EMPTY = (
    "No views yet. Open any page, set what it should show, and press *Add this view to the lecture* under "
    "*Share and presets*. Or start from an example."
)
EXAMPLE = "Start from an example"
TITLE = "Title"
TEXT = "Text above the page"
TEXT_HELP = (
    r"Markdown in texts: \*emphasis\*, \*\*strong\*\*, lists with -, and formulas such as \$m^2\$. "
    "Links, pictures and HTML are shown as text. On a projector, about 100 letters leave room for the figure."
)
BARE = "Hide the sidebar"
LOCKED = "Lock controls"
LOCKED_HELP = (
    "Settings and menus show their values, and students cannot change them. You can, while you lead a class."
)
UP, DOWN, REMOVE, OPEN = "Move up", "Move down", "Remove", "Open"
UNDO = "Undo the last change"
SAVE = "Save as a file"
LOAD = "Open a file"
LINK = "Link to this lecture"
LONG_LINK = "The link has {n:,} letters. Some programs cut links beyond {most:,}: share the file instead."
START = "Start"
SWITCH_ON_LARGE = "For a projector, switch on *Large type* under *Presentation* first."
PRESENT = "The arrow keys → and ←, or PageDown and PageUp, go on and back."
CLASS = "Class"
OPEN_CLASS = "Open a class"
CLOSE_CLASS, CLOSE_NOW = "Close the class", "Close now"
CLOSED_FOR_ALL = "Students cannot go on then, and the counts are deleted. Your lecture stays."
CLASS_HELP = (
    "Students open the link or scan the code. You see how many are at which view, without names. "
    "Closing the class, or restarting the server, deletes this."
)
CODE = "Code of the class: **{code}**"
CODE_IMAGE = "QR code of the link for students"
JOIN, ENTER = "Code of a class", "Join"
VIEWS = "{n} views"
LESSON = "{page}: {title}, step {step}"
EXAMPLE_VIEWS = "The example, “{title}”:"
EXAMPLE_TITLE = "How many features does a kernel need?"
EXAMPLE_TEXTS = (
    "Which pairs are in the wrong order?",
    "Can a line rank a ring? How many landmarks does it need?",
    "Which error is smaller at the same number of features? Does the ranking notice?",
    "From which $m$ on do more features not help?",
)
