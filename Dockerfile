# The plain container; the Apify Actor has its own in .actor/Dockerfile. docs/container.md
#   docker build -t millrace .
#   docker run --rm -v "$PWD/storage:/app/storage" millrace https://api.example.com/items/1
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The image brings Node 24 itself, so the optional Node binaries stay out. Nothing imports the umbrella package crawlee, and
# apify is for the Actor's image.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && npm uninstall --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund crawlee apify \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM node:24-bookworm-slim
# MILLRACE_CONTAINER: a missing input is an error here. MILLRACE_METRICS_PORT: /metrics and /healthz of a crawl.
ENV NODE_ENV=production MILLRACE_CONTAINER=1 MILLRACE_METRICS_PORT=9464
WORKDIR /app
RUN mkdir storage && chown node:node storage
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY src ./src
USER node
VOLUME ["/app/storage"]
EXPOSE 9464
HEALTHCHECK --interval=30s --timeout=5s CMD ["node", "bin/healthcheck.mjs"]
# Node is process 1: it handles SIGTERM itself and starts no children that would need reaping.
ENTRYPOINT ["node", "bin/millrace.mjs"]
