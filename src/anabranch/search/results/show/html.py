"""A sheet as HTML for notebooks: the board, tables with bars, all styles inline, nothing that runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch.draw.palette import FAINT, INK, PAPER, SOFT, WASH, ink_on, player_colour
from anabranch.draw.picture import as_html
from anabranch.draw.svg import SANS, clean
from anabranch.game.pictures import board_picture
from anabranch.search.results.show.result_sheet import result_sheet
from anabranch.search.results.show.sheet import Cell, Column, Legend, Sheet, Table, above

if TYPE_CHECKING:
    from anabranch.search.results.result import Result

BAR = 70  # pixels of a bar for all


def result_html(result: Result) -> str:
    """Return a result as one block of HTML with a background of its own."""
    sheet = result_sheet(result)
    board = as_html(board_picture(result.state), label=str(result.state))
    frame = (
        f"display:inline-flex;flex-wrap:wrap;gap:20px;align-items:flex-start;padding:14px 16px;border-radius:8px;"
        f"background:{PAPER};color:{INK};font:13px/1.45 {SANS};font-variant-numeric:tabular-nums;max-width:100%"
    )
    return (
        f'<div style="{frame}"><div style="flex:0 1 auto;max-width:320px">{board}</div>'
        f'<div style="flex:1 1 auto;overflow-x:auto">{sheet_html(sheet)}</div></div>'
    )


def sheet_html(sheet: Sheet) -> str:
    """Return the words and tables of a sheet."""
    chips = "".join(
        f'<span style="display:inline-block;margin:0 8px 0 0;padding:1px 8px;border-radius:9px;{_fill(cell)}">'
        f"{clean(whom)} <b>{clean(cell.lines[0])}</b></span>"
        for whom, cell in sheet.values
    )
    parts = [
        f'<div style="font-size:15px;font-weight:700">{clean(sheet.heading)}</div>',
        f'<div style="color:{SOFT};margin:2px 0 8px">{clean(sheet.summary)}</div>',
        f'<div style="margin:0 0 10px">{chips}</div>',
        *map(table_html, sheet.tables),
    ]
    if sheet.certificate:
        parts.append(f'<div style="color:{SOFT}">{clean(sheet.certificate)}</div>')
    if sheet.line:
        parts.append(f'<div><span style="color:{SOFT}">line</span> {clean(sheet.line)}</div>')
    if sheet.dice:
        parts.append(f'<div><span style="color:{SOFT}">dice</span> {clean(sheet.dice)}</div>')
    if sheet.legend:
        parts.append(_legend(sheet.legend))
    parts += [f'<div style="color:{SOFT};margin-top:4px">{clean(note)}</div>' for note in sheet.notes]
    return "".join(parts)


def _legend(legend: Legend) -> str:
    """Return the meaning of the colours in small letters."""
    shade = "display:inline-block;width:4px;height:9px;background:"
    ramps = " ".join("".join(f'<span style="{shade}{colour}"></span>' for colour in ramp) for ramp in legend.ramps)
    words = f"{clean(legend.low)} {ramps} {clean(legend.high)} &#160; {clean(legend.words)}"
    return f'<div style="color:{SOFT};font-size:11px;margin-top:2px">{words}</div>'


def table_html(table: Table) -> str:
    """Return one table; what was left out stands below it."""
    barred = [any(row[at].share is not None for row in above(table)) for at in range(len(table.columns))]
    head = "".join(_heading(column, bar) for column, bar in zip(table.columns, barred, strict=True))
    body = "".join(
        f'<tr style="background:none">{_row(row, table, number)}</tr>' for number, row in enumerate(table.rows)
    )
    title = f'<div style="color:{SOFT};margin-bottom:4px">{clean(table.title)}</div>' if table.title else ""
    rest = f'<div style="color:{SOFT};margin-top:2px">{clean(table.rest)}</div>' if table.rest else ""
    return (
        f'{title}<table style="border-collapse:separate;border-spacing:2px;margin:0 0 6px;font-size:13px;color:{INK}">'
        f'<thead><tr style="background:none">{head}</tr></thead><tbody>{body}</tbody></table>{rest}'
    )


def _heading(column: Column, bar: bool) -> str:
    colour = SOFT if column.seat is None else player_colour(column.seat)
    side = "right" if column.right else "left"
    after = 6 + (BAR + 8) * bar  # numbers end before the bar
    return (
        f'<th style="text-align:{side};color:{colour};font-weight:700;padding:2px {after}px 2px 6px;'
        f'border-bottom:1px solid {FAINT}">{clean(column.title)}</th>'
    )


def _row(row: Sequence[Cell], table: Table, number: int) -> str:
    ruled, bars = number in table.rules, number < len(above(table))
    return "".join(_cell(cell, column, ruled, bars) for cell, column in zip(row, table.columns, strict=True))


def _cell(cell: Cell, column: Column, ruled: bool, bars: bool) -> str:
    style = f"text-align:{'right' if column.right else 'left'};padding:2px 6px;border-radius:4px;white-space:nowrap;"
    style += "font-weight:700;" if cell.strong else ""
    style += f"border-top:1px solid {FAINT};" if ruled else ""
    words = "<br/>".join(map(clean, cell.lines))
    if cell.share is not None and bars:
        long = BAR * max(0.0, min(1.0, cell.share))
        bar = f"display:inline-block;height:9px;width:{long:.1f}px;border-radius:3px;background:{SOFT}"
        room = f"display:inline-block;width:{BAR}px;margin-left:8px;text-align:left;background:{WASH};border-radius:3px"
        words += f'<span style="{room};line-height:9px"><span style="{bar}"></span></span>'
    return f'<td style="{style}{_fill(cell)}">{words}</td>'


def _fill(cell: Cell) -> str:
    return f"background:{cell.colour};color:{ink_on(cell.colour)};" if cell.colour else f"color:{INK};"
