"use strict";
// The page says everything without this: it adds sorting, filtering and folding.
(() => {
  const say = document.createElement("p");
  say.className = "skip";
  say.setAttribute("aria-live", "polite");
  document.body.append(say);

  const sortable = (table) => {
    const body = table.tBodies[0];
    const first = [...body.rows];
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") || "none"];
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        if (next !== "none") head.setAttribute("aria-sort", next);
        body.append(...(next === "none" ? first : sorted(first, place, next === "ascending" ? 1 : -1)));
        say.textContent = next === "none" ? "in the order of the report" : `sorted by ${button.textContent}, ${next}`;
      });
    });
  };

  const value = (row, place) => {
    const text = row.cells[place].textContent.trim();
    const found = text.replaceAll(",", "").replace(/^[<>]/, "").match(/^[+\-−]?\d+(\.\d+)?/);
    return found ? { number: Number(found[0].replace("−", "-")), text } : { number: NaN, text };
  };

  const sorted = (rows, place, way) => {
    const known = new Map(rows.map((row) => [row, value(row, place)]));
    return [...rows].sort((one, two) => {
      const a = known.get(one), b = known.get(two);
      const numbers = !Number.isNaN(a.number) && !Number.isNaN(b.number);
      if (Number.isNaN(a.number) !== Number.isNaN(b.number)) return Number.isNaN(a.number) ? 1 : -1;
      return way * (numbers ? a.number - b.number : a.text.localeCompare(b.text, "en", { numeric: true }));
    });
  };

  const filter = (rows, what, before) => {
    const tools = document.createElement("div"), label = document.createElement("label"), field = document.createElement("input");
    const count = document.createElement("span");
    tools.className = "tools";
    field.type = "search";
    label.append(`Filter ${what} `, field);
    tools.append(label, count);
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = wanted ? `${shown} of ${rows.length}` : "";
      say.textContent = count.textContent;
    });
    before.before(tools);
    return tools;
  };

  for (const table of document.querySelectorAll(".figure table")) {
    if (table.tBodies[0].rows.length > 1) sortable(table);
    if (table.tBodies[0].rows.length > 9) filter([...table.tBodies[0].rows], "rows", table.closest(".scroll"));
  }
  for (const group of document.querySelectorAll(".items")) {
    const items = [...group.querySelectorAll(".item")];
    if (!items.length) continue;
    const tools = filter(items, "statements", items[0]);
    for (const [words, open] of [["Unfold all", true], ["Fold all", false]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = words;
      button.addEventListener("click", () => { for (const one of items) one.open = open && !one.hidden; });
      tools.append(button);
    }
  }
  const contents = document.querySelector(".contents");
  const narrow = matchMedia("(max-width: 67.99rem)");
  const fit = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fit);
  fit();
  const folds = document.querySelectorAll(".fold:not(.long)");
  let closed = [];
  addEventListener("beforeprint", () => { closed = [...folds].filter((one) => !one.open); for (const one of closed) one.open = true; });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
  const open = () => {
    const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = found; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
