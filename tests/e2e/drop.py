#!/usr/bin/env python3
"""Drops files on a window as a file manager would: the source's side of the XDND protocol, version 5.

    drop.py WINDOW_TITLE FILE...

Needs python-xlib and a DISPLAY. Exit code 0 when the target said that it took the drop.
"""

import sys
import time
from pathlib import Path

from Xlib import X, Xatom, display
from Xlib.protocol import event

SECONDS = 20


class Source:
    def __init__(self, title, files):
        self.display = display.Display()
        self.root = self.display.screen().root
        self.uris = "".join(Path(file).resolve().as_uri() + "\r\n" for file in files).encode()
        self.target = self.find(title)
        self.window = self.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
        self.own_selection()

    def atom(self, name):
        return self.display.intern_atom(name)

    def find(self, title):
        """The first window, from the top, that takes drops and has this title (or whose child has it)."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for window in reversed(self.root.query_tree().children):
                found = self.aware(window, title)
                if found is not None:
                    return found
            time.sleep(0.1)
        sys.exit(f"no window named {title} takes drops")

    def aware(self, window, title):
        name = window.get_full_property(self.atom("_NET_WM_NAME"), X.AnyPropertyType)
        named = name is not None and title in name.value.decode("utf-8", "replace")
        if named and window.get_full_property(self.atom("XdndAware"), Xatom.ATOM) is not None:
            return window
        for child in window.query_tree().children:
            found = self.aware(child, title)
            if found is not None:
                return found
        return None

    def own_selection(self):
        self.window.set_selection_owner(self.atom("XdndSelection"), X.CurrentTime)
        self.window.change_property(self.atom("XdndTypeList"), Xatom.ATOM, 32, [self.atom("text/uri-list")])

    def send(self, kind, data):
        message = event.ClientMessage(window=self.target, client_type=self.atom(kind), data=(32, data))
        self.target.send_event(message, event_mask=X.NoEventMask)
        self.display.flush()

    def drop(self):
        geometry = self.target.get_geometry()
        place = self.target.translate_coords(self.root, 0, 0)
        x, y = -place.x + geometry.width // 2, -place.y + geometry.height // 2
        source, copy = self.window.id, self.atom("XdndActionCopy")
        self.send("XdndEnter", [source, 5 << 24, self.atom("text/uri-list"), 0, 0])
        dropped, until, last = False, time.monotonic() + SECONDS, 0.0
        while time.monotonic() < until:
            if not dropped and time.monotonic() - last > 0.2:
                self.send("XdndPosition", [source, 0, (x << 16) | y, X.CurrentTime, copy])
                last = time.monotonic()
            if not self.display.pending_events():
                time.sleep(0.01)
                continue
            received = self.display.next_event()
            if received.type == X.SelectionRequest:
                self.answer(received)
            elif received.type == X.ClientMessage:
                kind = self.display.get_atom_name(received.client_type)
                data = received.data[1]
                if kind == "XdndStatus" and data[1] & 1 and not dropped:
                    dropped = True
                    self.send("XdndDrop", [source, 0, X.CurrentTime, 0, 0])
                elif kind == "XdndFinished":
                    return bool(data[1] & 1)
        return False

    def answer(self, request):
        uri_list = self.atom("text/uri-list")
        given = X.NONE
        if request.target == uri_list:
            request.requestor.change_property(request.property, uri_list, 8, self.uris)
            given = request.property
        elif request.target == self.atom("TARGETS"):
            request.requestor.change_property(request.property, Xatom.ATOM, 32, [uri_list])
            given = request.property
        notify = event.SelectionNotify(
            time=request.time,
            requestor=request.requestor,
            selection=request.selection,
            target=request.target,
            property=given,
        )
        request.requestor.send_event(notify)
        self.display.flush()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if not Source(sys.argv[1], sys.argv[2:]).drop():
        sys.exit("the window did not take the drop")
