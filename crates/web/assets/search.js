// What the runs are a part of: a search for the highest load, or a sweep. The program makes it a piece of HTML.

export class Search {
  constructor(api, place) {
    this.api = api;
    this.place = place;
    this.going = null;
  }

  // One reading at a time; a request during it gets the next one.
  refresh(language) {
    if (this.going) {
      this.again = language;
      return this.going;
    }
    this.going = this.read(language).finally(() => {
      this.going = null;
      const { again } = this;
      this.again = null;
      if (again) this.refresh(again);
    });
    return this.going;
  }

  async read(language) {
    const text = await (await this.api.fetch(`/api/search.html?lang=${language}`)).text();
    this.place.hidden = !text;
    // Whatever came from a run is escaped in it.
    this.place.innerHTML = text;
  }
}
