"""Where `engine/` still looks for what the scale `auto` means; it lives in `maths/scale.py`."""

from anabranch.search.maths.scale import resolved_scale as resolved_scale
