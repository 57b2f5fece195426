// The table of every number: sorted by a column, filtered by need and name.

function rawTable(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const need = document.getElementById("filter-need");
  const text = document.getElementById("filter-text");
  const count = document.getElementById("filter-count");
  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    for (const row of rows) {
      const ofNeed = need.value === "" || row.dataset.need === need.value;
      row.hidden = !(ofNeed && row.cells[1].textContent.toLowerCase().includes(wanted));
    }
    count.textContent = counted(rows.filter((row) => !row.hidden).length, "row");
  };
  need.addEventListener("change", filter);
  text.addEventListener("input", filter);
  document.getElementById("filters").hidden = false;
  filter();

  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = element("button", { type: "button" }, head.textContent);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const numbers = head.classList.contains("number");
      const sorted = [...rows].sort((a, b) => order(a.cells[column], b.cells[column], numbers));
      body.append(...(up ? sorted : sorted.reverse()));
    });
    head.replaceChildren(button);
  });
}

/** Compares two cells. A cell without a number comes before all numbers. */
function order(a, b, numbers) {
  if (!numbers) return a.textContent.localeCompare(b.textContent);
  const value = (cell) => {
    const number = parseFloat(cell.textContent);
    return isNumber(number) ? number : -Infinity;
  };
  const [left, right] = [value(a), value(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

