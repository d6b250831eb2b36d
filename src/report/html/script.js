// The page's only script: a cursor on the charts, and fresh contents while a crawl is watched.

function nearest(points, share) {
  let best = 0;
  for (let index = 1; index < points.length; index++)
    if (Math.abs(points[index][0] - share) < Math.abs(points[best][0] - share)) best = index;
  return best;
}

function watchChart(figure) {
  const points = JSON.parse(figure.dataset.points);
  const field = figure.querySelector('.field');
  const cursor = figure.querySelector('.cursor');
  const tip = figure.querySelector('.tip');
  if (points.length === 0) return;
  let at = -1;

  function show(index) {
    at = index;
    cursor.hidden = false;
    cursor.style.left = `${points[index][0] * 100}%`;
    tip.textContent = points[index][1];
  }
  function hide() {
    if (document.activeElement === field) return;
    cursor.hidden = true;
    tip.textContent = '';
  }
  field.addEventListener('pointermove', (event) => {
    const box = field.getBoundingClientRect();
    show(nearest(points, (event.clientX - box.left) / box.width));
  });
  field.addEventListener('pointerleave', hide);
  field.addEventListener('blur', hide);
  field.addEventListener('focus', () => show(at < 0 ? points.length - 1 : at));
  field.addEventListener('keydown', (event) => {
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    show(Math.min(Math.max(target, 0), points.length - 1));
  });
}

function watchCharts() {
  for (const figure of document.querySelectorAll('.chart')) watchChart(figure);
}

function replaceMain(main, text) {
  const open = [...main.querySelectorAll('details[open]')].map((details) => details.id);
  const chart = document.activeElement?.closest?.('.chart')?.id;
  main.innerHTML = text;
  for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  watchCharts();
  if (chart) document.getElementById(chart)?.querySelector('.field')?.focus({ preventScroll: true });
}

watchCharts();
const { live } = document.documentElement.dataset;
if (live) {
  const main = document.querySelector('main');
  new EventSource(live).addEventListener('message', (event) => replaceMain(main, event.data));
}
