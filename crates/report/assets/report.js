// The script of the report: unpacks the data, mounts the charts, the theme button and the copy buttons.
import { mount } from "./charts.js";

const texts = {
  unsupported: "This browser is too old to draw the charts. All other results stand on this page.",
  theme_auto: "Theme: auto",
  theme_light: "Theme: light",
  theme_dark: "Theme: dark",
  copy: "Copy",
  copied: "Copied",
  copy_failed: "Press Ctrl+C",
  ...readWords(),
};

// A <script type="application/json" id="words"> holds the texts of the page's language, if it is not English.
function readWords() {
  try {
    return JSON.parse(document.getElementById("words").textContent);
  } catch {
    return {};
  }
}

// base64 of gzip of JSON
async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function showCharts() {
  const root = document.getElementById("charts");
  if (!root) return;
  try {
    mount(root, await unpack(document.getElementById("data").textContent), texts);
  } catch {
    const line = document.createElement("p");
    line.textContent = texts.unsupported;
    root.textContent = "";
    root.append(line);
  }
}

function themeButton() {
  const header = document.querySelector("header");
  if (!header) return;
  const themes = ["auto", "light", "dark"];
  const page = document.documentElement;
  const button = document.createElement("button");
  const show = (theme) => {
    button.textContent = texts[`theme_${theme}`];
    if (theme === "auto") delete page.dataset.theme;
    else page.dataset.theme = theme;
  };
  let current = Math.max(0, themes.indexOf(page.dataset.theme));
  button.type = "button";
  button.className = "theme";
  button.addEventListener("click", () => {
    current = (current + 1) % themes.length;
    show(themes[current]);
  });
  show(themes[current]);
  header.append(button);
}

async function copyText(block) {
  try {
    await navigator.clipboard.writeText(block.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(block);
    return document.execCommand("copy");
  }
}

function copyButton(block) {
  const box = document.createElement("div");
  const button = document.createElement("button");
  box.className = "command-box";
  button.type = "button";
  button.className = "copy";
  button.textContent = texts.copy;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(block)) ? texts.copied : texts.copy_failed;
    setTimeout(() => { button.textContent = texts.copy; }, 2500);
  });
  block.replaceWith(box);
  box.append(block, button);
}

// Instants in the reader's zone, like 2026-01-31 08:00:00 UTC+8. Without this they stand in UTC.
function showInstants() {
  document.querySelectorAll("time").forEach((mark) => {
    const at = new Date(mark.dateTime);
    if (Number.isNaN(at.getTime())) return;
    const ahead = -at.getTimezoneOffset();
    const local = new Date(at.getTime() + ahead * 60_000).toISOString().slice(0, mark.dateTime.length - 1);
    const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
    const offset = minutes ? `${hours}:${String(minutes).padStart(2, "0")}` : `${hours}`;
    mark.title = mark.textContent;
    mark.textContent = `${local.replace("T", " ")} UTC${ahead ? (ahead < 0 ? "-" : "+") + offset : ""}`;
  });
}

themeButton();
showInstants();
document.querySelectorAll("pre.command").forEach(copyButton);
showCharts();
