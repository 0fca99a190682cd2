// What expressions find beside their variables. Runs once in each interpreter; `random`, `now` and `functions` are given.
(random, now, functions) => {
  "use strict";
  const kept = new Set([
    "Object", "Function", "Array", "String", "Number", "Boolean", "Symbol", "BigInt", "Math", "JSON", "Date", "RegExp", "Map", "Set",
    "WeakMap", "WeakSet", "Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError", "AggregateError",
    "Iterator", "Promise", "Proxy", "Reflect", "ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array",
    "Uint16Array", "Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "NaN", "Infinity",
    "undefined", "isNaN", "isFinite", "parseInt", "parseFloat", "encodeURIComponent", "decodeURIComponent", "encodeURI", "decodeURI",
    "globalThis",
  ]);
  const Clock = Date;
  function RunDate(...parts) {
    if (!new.target) return new Clock(now()).toString();
    return Reflect.construct(Clock, parts.length ? parts : [now()], new.target);
  }
  RunDate.prototype = Clock.prototype;
  Clock.prototype.constructor = RunDate;
  RunDate.now = () => now();
  RunDate.parse = Clock.parse;
  RunDate.UTC = Clock.UTC;
  Object.defineProperty(RunDate, "name", { value: "Date" });
  globalThis.Date = RunDate;
  Math.random = () => random();
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!kept.has(name)) delete globalThis[name];
  for (const name of Object.keys(functions)) globalThis[name] = functions[name];
  // All that can be reached is what it is for ever.
  const known = new Set();
  const freeze = (thing) => {
    if (thing === null || (typeof thing !== "object" && typeof thing !== "function") || known.has(thing)) return;
    known.add(thing);
    freeze(Object.getPrototypeOf(thing));
    for (const key of Reflect.ownKeys(thing)) {
      const own = Object.getOwnPropertyDescriptor(thing, key);
      freeze(own.value);
      freeze(own.get);
      freeze(own.set);
    }
    Object.freeze(thing);
  };
  const hidden = [
    () => 0, function* () {}, async () => 0, async function* () {}, [][Symbol.iterator](), ""[Symbol.iterator](),
    new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), (function* () {})(), "".matchAll(/x/g),
  ];
  hidden.forEach(freeze);
  freeze(globalThis);
}
