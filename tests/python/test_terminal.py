"""What a person sees at a terminal: a bar that moves within a frame, with what is left, and an answer to Ctrl-C."""

import os
import pathlib
import pty
import re
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERCALE = pathlib.Path(os.environ.get("PERCALE", ROOT / "target" / "release" / "percale"))

# frames that take half a second or more, in many intervals
CHANGES = ["cloth.0.shape.cells=[100, 100]", "fps=15", "time.max_interval=0.0625"]
LONG = ["run", "drop", "--frames", "3", *(word for change in CHANGES for word in ("--set", change))]


class Terminal:
    """A command whose stderr is a terminal."""

    def __init__(self, arguments):
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen([PERCALE, *arguments], stderr=theirs, stdout=subprocess.PIPE)
        os.close(theirs)
        self.screen, self.text = ours, ""

    def read_until(self, pattern):
        """Everything that was drawn until a pattern appears; fails if the command ends before."""
        while not (found := re.search(pattern, self.text)):
            try:
                data = os.read(self.screen, 4096)
            except OSError:  # the other end is closed
                data = b""
            assert data, f"no '{pattern}' in {self.text!r}"
            self.text += data.decode(errors="replace")
        return found

    def end(self):
        while True:
            try:
                data = os.read(self.screen, 4096)
            except OSError:
                break
            if not data:
                break
            self.text += data.decode(errors="replace")
        os.close(self.screen)
        self.process.communicate()
        return self.process.returncode


def test_the_bar_moves_within_a_frame_and_ctrl_c_is_answered(tmp_path):
    folder = tmp_path / "result"
    terminal = Terminal([*LONG, "-o", folder])
    # before the first frame is done
    terminal.read_until(r"frame 0\.[1-9] of 3, \d+:\d\d gone, \d+:\d\d to go")
    assert "frame 1" not in terminal.text
    terminal.read_until(r"frame 1\.[1-9] of 3")  # the first frame is written by then
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until("stopping after this frame; press Ctrl-C again to stop now")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert len((folder / "frames.jsonl").read_text().splitlines()) == 1

    # one frame was done before: it is not counted as the work of no time
    terminal = Terminal([*LONG, "-o", folder, "--resume"])
    terminal.read_until(r"frame 1 of 3, \d+:\d\d gone, \? to go")
    terminal.read_until(r"frame 1\.[1-9] of 3, \d+:\d\d gone, \d+:\d\d to go")
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until("stopping after this frame")
    assert terminal.end() == 130
    assert "stopped after frame 2; continue with --resume" in terminal.text
