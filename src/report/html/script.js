// The page's only script: a cursor on the charts, and fresh contents while a crawl is watched.

function nearest(points, share) {
  let best = 0;
  for (let index = 1; index < points.length; index++)
    if (Math.abs(points[index][0] - share) < Math.abs(points[best][0] - share)) best = index;
  return best;
}

function watchChart(figure) {
  const field = figure.querySelector('.field');
  const cursor = figure.querySelector('.cursor');
  const tip = figure.querySelector('.tip');
  let points = [];
  let at = -1;

  function show(index) {
    if (points.length === 0) return;
    at = Math.min(Math.max(index, 0), points.length - 1);
    cursor.hidden = false;
    cursor.style.left = `${points[at][0] * 100}%`;
    tip.textContent = points[at][1];
  }
  function hide() {
    if (document.activeElement === field) return;
    cursor.hidden = true;
    tip.textContent = '';
  }
  /** Takes the figure's values anew. A cursor on the last one stays on the last one. */
  function read() {
    const wasLast = at === points.length - 1;
    points = JSON.parse(figure.dataset.points);
    if (!cursor.hidden) show(wasLast ? points.length - 1 : at);
  }
  field.addEventListener('pointermove', (event) => {
    const box = field.getBoundingClientRect();
    if (points.length > 0) show(nearest(points, (event.clientX - box.left) / box.width));
  });
  field.addEventListener('pointerleave', hide);
  field.addEventListener('blur', hide);
  field.addEventListener('focus', () => show(at < 0 ? points.length - 1 : at));
  field.addEventListener('keydown', (event) => {
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    show(target);
  });
  charts.set(figure, read);
  read();
}

const charts = new WeakMap();

function watchCharts() {
  for (const figure of document.querySelectorAll('.chart')) {
    const read = charts.get(figure);
    if (read) read();
    else watchChart(figure);
  }
}

// What a reader has done to the page: opened parts and cursors are theirs.
const READERS_OWN = '.cursor, .tip';

function keyOf(node) {
  return node.id || node.getAttribute?.('aria-labelledby') || '';
}

/** Makes `from` what `to` is, changing only what differs: focus, scroll position and selection stay. */
function become(from, to) {
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (from.matches(READERS_OWN)) return;
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !(name === 'open' && from.localName === 'details')) from.removeAttribute(name);
  for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  becomeChildren(from, to);
}

function becomeChildren(from, to) {
  const wanted = [...to.childNodes];
  const keys = new Set(wanted.map(keyOf).filter(Boolean));
  for (const child of [...from.childNodes]) if (keyOf(child) && !keys.has(keyOf(child))) child.remove();
  let here = from.firstChild;
  for (const next of wanted) {
    const key = keyOf(next);
    const isThere = key && [...from.childNodes].some((child) => keyOf(child) === key);
    while (isThere && keyOf(here) !== key) {
      const passed = here;
      here = here.nextSibling;
      passed.remove();
    }
    if (here && here.nodeName === next.nodeName && keyOf(here) === key) {
      become(here, next);
      here = here.nextSibling;
    } else from.insertBefore(next, here);
  }
  while (here) {
    const passed = here;
    here = here.nextSibling;
    passed.remove();
  }
}

function replaceMain(text) {
  const main = document.createElement('main');
  main.innerHTML = text;
  become(document.querySelector('main'), main);
  watchCharts();
}

function watchCrawl(url) {
  const state = document.getElementById('live');
  const say = (text, kind) => {
    if (state.textContent !== text) state.textContent = text;
    state.className = kind;
  };
  const source = new EventSource(url);
  source.addEventListener('message', (event) => {
    say('Live', 'on');
    replaceMain(event.data);
  });
  source.addEventListener('end', (event) => {
    source.close();
    say(event.data, 'ended');
  });
  source.addEventListener('error', () => {
    say('No connection to the crawl: this is the last that was heard of it. Trying again…', 'lost');
  });
}

watchCharts();
const { live } = document.documentElement.dataset;
if (live) watchCrawl(live);
