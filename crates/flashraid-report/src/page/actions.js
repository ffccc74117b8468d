// Saves tables, texts and pictures of the page as files, and keeps the contents where the reader is.
"use strict";
const flashraid = (() => {
  function save(content, name, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // A picture twice as large as it is drawn, for screens and slides.
  function savePicture(svg, name) {
    const picture = new Image();
    picture.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [picture.naturalWidth * 2, picture.naturalHeight * 2];
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name, "image/png"), "image/png");
    };
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  }

  const cells = (row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim());
  const rows = (section) => [...section.querySelectorAll("tr")].map(cells);

  // Without a heading a Markdown table has an empty one.
  function markdown(section) {
    const all = rows(section), head = section.querySelector("thead") ? all.shift() : all[0].map(() => "");
    const line = (row) => `| ${row.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
    const numbers = section.querySelector("tbody tr")?.cells ?? [];
    const rule = head.map((_, index) => (numbers[index]?.classList.contains("number") ? "---:" : "---"));
    return [line(head), line(rule), ...all.map(line)].join("\n") + "\n";
  }

  // Numbers without the commas between thousands.
  function csv(section) {
    const plain = (text) => (/^-?\d{1,3}(,\d{3})+(\.\d+)?( [∅✗!?§≈])*$/.test(text) ? text.replaceAll(",", "") : text);
    const field = (text) => (/[",\n]/.test(plain(text)) ? `"${plain(text).replaceAll('"', '""')}"` : plain(text));
    return rows(section).map((row) => row.map(field).join(",") + "\n").join("");
  }

  function add(section, text, name, action) {
    const button = document.createElement("button");
    [button.type, button.textContent, button.title] = ["button", text, name];
    button.setAttribute("aria-label", name);
    button.addEventListener("click", action);
    section.querySelector(".export").append(button);
  }

  async function copy(text, button) {
    try { await navigator.clipboard.writeText(text); } catch {
      // Pages from files may not use the clipboard in all browsers.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  }

  for (const section of document.querySelectorAll("section.table")) {
    const name = section.querySelector("h2").textContent.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    add(section, "Markdown", "Save this table as Markdown", () => save(markdown(section), `${name}.md`, "text/markdown"));
    add(section, "CSV", "Save this table as CSV", () => save(csv(section), `${name}.csv`, "text/csv"));
  }
  for (const block of document.querySelectorAll("details.text")) {
    const text = () => block.querySelector("pre").textContent;
    add(block, "Copy", "Copy this text", (event) => copy(text(), event.target));
    add(block, "Save", "Save this text as a file", () => save(text(), block.dataset.file, "text/plain"));
  }

  // On a narrow page the contents are folded until they are wanted.
  const contents = document.querySelector("nav details"), narrow = matchMedia("(max-width: 74rem)");
  const fold = () => { contents.open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);

  // A text that the contents lead to is unfolded; all are for printing.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches("details.text")) target.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  return { save, savePicture, markdown, csv };
})();
