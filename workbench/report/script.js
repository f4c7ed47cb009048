"use strict";
// The page says what one came for without this. It opens the supplement: all of its text is put in as text.
(() => {
  const FIRST = 500; // rows of a table before one asks for all of them
  const make = (tag, given = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...inside);
    return made;
  };
  const say = make("p", { className: "skip" });
  say.setAttribute("aria-live", "polite");
  document.body.append(say);

  const unpacked = async () => {
    const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  const folded = (summary, className, fill) => {
    const made = make("details", { className }, make("summary", {}, ...summary));
    made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) made.append(...fill()); });
    return made;
  };

  const field = (what, changed) => {
    const input = make("input", { type: "search" }), count = make("span");
    input.addEventListener("input", () => {
      count.textContent = changed(input.value.trim().toLowerCase());
      say.textContent = count.textContent;
    });
    return make("div", { className: "tools" }, make("label", {}, `${what} `, input), count);
  };

  const button = (words, pressed) => {
    const made = make("button", { type: "button" }, words);
    made.addEventListener("click", pressed);
    return made;
  };

  const number = (text) => {
    const found = text.replaceAll(",", "").replace(/^[<>]/, "").match(/^[+\-−]?\d+(\.\d+)?/);
    return found ? Number(found[0].replace("−", "-")) : NaN;
  };

  const sorted = (rows, place, way) => [...rows].sort((one, two) => {
    const [a, b] = [number(one[place]), number(two[place])];
    if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1;
    return way * (Number.isNaN(a) ? one[place].localeCompare(two[place], "en", { numeric: true }) : a - b);
  });

  const filled = (of) => {
    const body = make("tbody"), more = make("p", { className: "note" });
    let order = of.rows, wanted = "", most = FIRST;
    const draw = () => {
      const rows = wanted ? order.filter((row) => row.join(" ").toLowerCase().includes(wanted)) : order;
      body.replaceChildren(...rows.slice(0, most).map((row) => make("tr", {}, ...row.map((text, at) => {
        const cell = make(at ? "td" : "th", { className: of.heads[at][2] }, text);
        if (!at) cell.scope = "row";
        return cell;
      }))));
      more.replaceChildren(...(rows.length > most ? [button(`Show all ${rows.length} rows`, () => { most = Infinity; draw(); })] : []));
      return wanted ? `${rows.length} of ${of.rows.length}` : "";
    };
    const heads = of.heads.map(([title, help, className], place) => {
      const head = make("th", { className, scope: "col", title: help });
      head.append(button(title, () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") || "none"];
        for (const other of heads) other.removeAttribute("aria-sort");
        if (next !== "none") head.setAttribute("aria-sort", next);
        order = next === "none" ? of.rows : sorted(of.rows, place, next === "ascending" ? 1 : -1);
        draw();
        say.textContent = next === "none" ? "in the order of the report" : `sorted by ${title}, ${next}`;
      }));
      return head;
    });
    const grid = make("table", {}, make("caption", {}, of.title), make("thead", {}, make("tr", {}, ...heads)), body);
    draw();
    const scroll = make("div", { className: "scroll", tabIndex: 0 }, grid);
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", of.title);
    return [
      ...(of.said ? [make("p", { className: "definition" }, of.said)] : []),
      ...(of.rows.length ? [field("Filter rows", (words) => { wanted = words; return draw(); }), scroll, more] : []),
      ...of.notes.map((note) => make("p", { className: "note" }, note)),
      make("p", { className: "note" }, `${of.file}.csv`),
    ];
  };

  const answers = (one, read) => {
    const list = make("ul", {}, ...one.said.map((said) => make("li", {}, said)));
    if (!one.given.length) return [list];
    const titles = ["wording", ...(read ? ["read as"] : []), "answers, and how often"];
    const rows = one.given.map((of) => {
      const asked = make("th", { scope: "row" }, of.wording, make("span", { className: "wording", dir: "auto" }, of.text));
      const texts = of.texts.map(([text, times]) => make("p", {}, make("q", { dir: "auto" }, text), ` ×${times}`));
      if (of.more) texts.push(make("p", { className: "note" }, of.more));
      return make("tr", {}, asked, ...(read ? [make("td", {}, of.read.join(", "))] : []), make("td", {}, ...texts));
    });
    const head = make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title))));
    const caption = make("caption", {}, `Answers on ${one.ref}`);
    return [list, make("div", { className: "scroll" }, make("table", { className: "answers" }, caption, head, make("tbody", {}, ...rows)))];
  };

  const statement = (one, read) => folded(
    [make("span", { className: "mark" }, one.mark), " ", make("b", {}, one.ref), " ", make("span", { dir: "auto" }, one.text)],
    `item ${one.kind}`, () => answers(one, read),
  );

  const open = (whole) => {
    const listed = [];
    const fold = (title, said, className, of, fill) => {
      const made = folded([title, " ", make("small", {}, said)], className, fill);
      let text = "";
      listed.push([made, () => text ||= JSON.stringify(of).toLowerCase()]);
      return made;
    };
    const groups = [
      ...whole.parts.map((part) => [part.title || "The whole report", part.tables.map((of) =>
        fold(of.title, `${of.rows.length} rows`, "fold", of, () => filled(of)))]),
      ["Statements and answers", whole.statements.map((of) =>
        fold(of.title, of.said, "fold", of, () => {
          const items = of.items.map((one) => [statement(one, of.read), JSON.stringify(one).toLowerCase()]);
          const search = field("Filter statements", (wanted) => {
            for (const [item, text] of items) item.hidden = !text.includes(wanted);
            return wanted ? `${items.filter(([item]) => !item.hidden).length} of ${items.length}` : "";
          });
          return [search, ...items.map(([item]) => item)];
        }))],
    ].filter(([, inside]) => inside.length);
    const sections = groups.map(([title, inside]) => [folded([title, " ", make("small", {}, inside.length)], "part", () => inside), inside]);
    const search = field("Search tables, statements and answers", (wanted) => {
      for (const [made, text] of listed) made.hidden = wanted !== "" && !text().includes(wanted);
      for (const [section, inside] of sections) {
        section.hidden = inside.every((one) => one.hidden);
        section.open = wanted !== "" && !section.hidden;
      }
      return wanted ? `in ${listed.filter(([made]) => !made.hidden).length} of ${listed.length}` : "";
    });
    return [search, ...sections.map(([section]) => section)];
  };

  const place = document.getElementById("inside");
  unpacked().then((whole) => place.append(...open(whole)), () => place.append(make("p", { className: "warning" },
    "This browser cannot unpack the supplement; the files beside the page have all of it, and index.csv says what each holds.")));
})();
