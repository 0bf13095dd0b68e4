# SPDX-License-Identifier: Apache-2.0
# Build steps that turn rules/ into C tables, each by a small program over the same loaders the tool uses.
