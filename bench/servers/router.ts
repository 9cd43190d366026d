// Server with this package, started with `app.listen`.

import { application } from './application.js'
import { serve } from './serve.js'

await serve(application)
