import DefaultTheme from 'vitepress/theme'
import Drawing from './Drawing.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('Drawing', Drawing),
}
