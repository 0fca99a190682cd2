// Scripts of pages, as modules of Node. They are imported by what they say, since their names are those of a browser.
import { readFileSync } from "node:fs";

const place = (path) => new URL(`../../../../${path}`, import.meta.url);

// A script that imports no other. `more` are names in it that it keeps to itself.
export function asset(path, more = []) {
  const text = `${readFileSync(place(path), "utf8")}\nexport { ${more.join(", ")} };`;
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}
