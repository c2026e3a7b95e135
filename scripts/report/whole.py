"""What a browser may not break where a line ends: flags, such as --y-error, and numbers, such as 1e-05 and 3 ms."""

import re

MARKUP = re.compile(r"(<(?:script|style|svg)\b.*?</(?:script|style|svg)>|<[^>]*>)", re.DOTALL)
NUMBER, UNIT = r"\d[\d.]*(?:e-?\d+)?", "[nµm]?s|[kMGT]?B|×|%|nats"
WHOLE = re.compile(rf"(?<![\w-])(?:--?[A-Za-z][\w-]*|{NUMBER} (?:{UNIT})|\d[\d.]*e-\d+|Matérn \d/\d)(?!\w)")
FORMULA = re.compile(r"\((?=<math>)<math>(?:(?!</math>).)*</math>[.,;:)]*|<math>(?:(?!</math>).)*</math>[.,;:)]+", re.DOTALL)


def whole(page, text=lambda part, code: part):
    """HTML with these in one piece, and formulas with the marks beside them. text changes what stands between two tags; code says whether it
    is code."""
    parts, code = MARKUP.split(page), 0
    for i, part in enumerate(parts):
        if i % 2:
            code += bool(re.match(r"<(?:code|pre)\b", part)) - bool(re.match(r"</(?:code|pre)\b", part))
        else:
            parts[i] = WHOLE.sub(r'<span class="whole">\g<0></span>', text(part, code > 0))
    return FORMULA.sub(r'<span class="whole">\g<0></span>', "".join(parts))
