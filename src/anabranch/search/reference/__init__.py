"""The search written to be read: what the engine must agree with, visit for visit."""

from anabranch.search.reference.search import Reference as Reference
