import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const inRoot = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const server = `http://localhost:${process.env.PORT ?? 3000}`

export default defineConfig({
  esbuild: { jsx: 'automatic' },
  // The package as it is in this repository. In a project of your own it is installed, and this is not needed.
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
    // The page of `npm run example admin`, and that of `npm run example desk`.
    rollupOptions: { input: ['index.html', 'desk.html'] },
  },
  // `npm run dev` serves the page; the rest is asked of `npm run example admin`.
  server: { proxy: { '/api': server, '/login': server, '/socket.io': { target: server, ws: true } } },
})
