# SPDX-License-Identifier: Apache-2.0
"""A git checkout at one revision, read without checking it out: nothing of it is imported or run."""
import ast
import subprocess


class Checkout:
    """The Python sources of a revision. `folder` is a work tree or a bare repository."""

    def __init__(self, folder, revision):
        self.folder = folder
        self.commit = self._git("rev-parse", f"{revision}^{{commit}}").strip()
        self.date = self._git("show", "-s", "--format=%cs", self.commit).strip()
        self._paths = self._git("ls-tree", "-r", "--name-only", self.commit).split("\n")
        self._trees, self._reader = {}, None

    def _git(self, *words):
        done = subprocess.run(["git", "-C", self.folder, *words], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    def files(self, *folders, suffix=".py"):
        """The paths below some folders (all, where none is named), sorted."""
        return [
            path
            for path in self._paths
            if path.endswith(suffix) and (not folders or path.startswith(folders))
        ]

    def text(self, path):
        """The text of a file; None where the revision has no such file."""
        if path not in self._paths:
            return None
        if self._reader is None:  # one process for all files: a release has a thousand
            words = ["git", "-C", self.folder, "cat-file", "--batch"]
            pipe = subprocess.PIPE
            self._reader = subprocess.Popen(words, stdin=pipe, stdout=pipe)
        self._reader.stdin.write(f"{self.commit}:{path}\n".encode())
        self._reader.stdin.flush()
        size = int(self._reader.stdout.readline().split()[-1])
        return self._reader.stdout.read(size + 1)[:-1].decode("utf-8", "replace")

    def tags(self, pattern):
        """The names of all tags of the repository that match."""
        return self._git("tag", "--list", pattern).split()

    def close(self):
        """Ends the reader of files."""
        if self._reader:
            self._reader.communicate()
            self._reader = None

    def submodule(self, path):
        """The commit that a submodule is pinned to."""
        return self._git("ls-tree", self.commit, path).split()[2]

    def tree(self, path):
        """The syntax tree of a file; an empty one where it is absent or not this Python's."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.text(path) or "")
            except (SyntaxError, ValueError):
                self._trees[path] = ast.parse("")
        return self._trees[path]
