import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const inRoot = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const server = `http://localhost:${process.env.PORT ?? 3000}`

export default defineConfig({
  esbuild: { jsx: 'automatic' },
  // Resolves the package to the files of this repository. A project that has installed the package does not need these
  // lines.
  resolve: {
    alias: {
      'sequelize-crud-router/react-admin': inRoot('dist/browser/lib/react-admin/index.js'),
      'sequelize-crud-router/client/actions': inRoot('dist/browser/lib/client/actions.js'),
      'sequelize-crud-router/client': inRoot('dist/browser/lib/client/index.js'),
    },
    dedupe: ['socket.io-client'],
  },
  build: {
    chunkSizeWarningLimit: 2000,
    // Pages of `npm run example admin` and of `npm run example desk`.
    rollupOptions: { input: ['index.html', 'desk.html'] },
  },
  // `npm run dev` serves the page. Other requests are forwarded to `npm run example admin`.
  server: { proxy: { '/api': server, '/login': server, '/socket.io': { target: server, ws: true } } },
})
