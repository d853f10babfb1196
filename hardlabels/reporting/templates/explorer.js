"use strict";
// Items of the evaluation split: sorted by a chosen key, a few at a time. Names and texts are only ever set as text.
for (const root of document.querySelectorAll(".explorer")) {
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const sheet = root.querySelector("img.sheet");
  const [sort, order] = root.querySelectorAll("select");
  const [back, on] = root.querySelectorAll("button");
  const list = root.querySelector(".items"), where = root.querySelector(".where");
  const size = 12, least = 5; // items at once; percent below which a class is left out, unless it leads somewhere
  const keys = [["disagreement of the annotators (entropy of the votes)", data.entropy]];
  data.methods.forEach((name, m) => keys.push([`entropy of the prediction, ${name}`, data.entropies[m]]));
  data.methods.forEach((name, m) => data.gains[m] && keys.push([`gain over soft labels, ${name}`, data.gains[m]]));
  keys.push(["place in the data set", data.positions]);
  keys.forEach(([name], place) => sort.add(new Option(name, place)));
  let ranks = [], page = 0;

  const element = (tag, kind, text) => {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const card = (item) => {
    const made = element("article", "item"), head = element("header", ""), table = element("table", "bars");
    if (sheet) {
      const { columns, side } = data.sheet, picture = element("canvas", "thumbnail");
      picture.width = picture.height = side;
      const across = item % columns, down = Math.floor(item / columns);
      picture.getContext("2d").drawImage(sheet, across * side, down * side, side, side, 0, 0, side, side);
      head.append(picture);
    }
    const value = keys[sort.value][1][item];
    head.append(element("p", "", `Item ${data.positions[item]}: ${keys[sort.value][0].split(",")[0]} ${value}`));
    made.append(head);
    if (data.texts.length) made.append(element("p", "text", data.texts[item]));
    const columns = [["votes", data.votes[item]], ...data.methods.map((name, m) => [name, data.predictions[m][item]])];
    const top = table.createTHead().insertRow();
    top.append(element("th", "", ""), ...columns.map(([name]) => element("th", "", name)));
    top.querySelectorAll("th").forEach((cell) => cell.setAttribute("scope", "col"));
    const body = table.createTBody();
    data.classes.forEach((name, c) => {
      if (!columns.some(([, shares]) => shares[c] >= least || shares[c] === Math.max(...shares))) return;
      const row = body.insertRow(), head = element("th", "", name);
      head.setAttribute("scope", "row");
      row.append(head);
      columns.forEach(([, shares], place) => {
        const cell = element("td", place ? "" : "people", `${shares[c]} %`);
        cell.style.setProperty("--share", `${shares[c]}%`);
        row.append(cell);
      });
    });
    const scroll = element("div", "scroll");
    scroll.append(table);
    made.append(scroll);
    return made;
  };

  const show = () => {
    const pages = Math.ceil(ranks.length / size);
    page = Math.max(0, Math.min(page, pages - 1));
    list.replaceChildren(...ranks.slice(page * size, (page + 1) * size).map(card));
    where.textContent = `${page * size + 1} to ${Math.min((page + 1) * size, ranks.length)} of ${ranks.length}`;
    back.disabled = page === 0;
    on.disabled = page === pages - 1;
  };
  const rank = () => {
    const values = keys[sort.value][1], sign = order.value === "up" ? 1 : -1;
    ranks = values.map((_, item) => item).sort((a, b) => sign * (values[a] - values[b]) || a - b);
    page = 0;
    show();
  };
  const turn = (step) => { page += step; show(); };
  sort.addEventListener("change", rank);
  order.addEventListener("change", rank);
  back.addEventListener("click", () => turn(-1));
  on.addEventListener("click", () => turn(1));
  root.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT") return;
    if (event.key === "ArrowRight") turn(1);
    if (event.key === "ArrowLeft") turn(-1);
  });
  root.hidden = false;
  rank();
  if (sheet && !sheet.complete) sheet.addEventListener("load", show);
}
