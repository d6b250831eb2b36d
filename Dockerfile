# The plain container: `docker run --rm -v "$PWD/storage:/app/storage" millrace https://api.example.com/items/1`
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The image brings Node 24 itself, so the optional Node binaries stay out.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund && npm cache clean --force

FROM node:24-bookworm-slim
ENV NODE_ENV=production MILLRACE_CONTAINER=1
WORKDIR /app
RUN mkdir storage && chown node:node storage
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY bin ./bin
COPY src ./src
USER node
VOLUME ["/app/storage"]
# Node is process 1: it handles SIGTERM itself and starts no children that would need reaping.
ENTRYPOINT ["node", "bin/millrace.mjs"]
