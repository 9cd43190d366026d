import { Alert, Button } from '@mui/material'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useRecordContext, useRefresh, useResourceContext } from 'react-admin'
import { dataProvider } from './providers'

/** Calls back when a record of a resource changes. The topic may also name a single record. */
function useEvents(topic: string | null, callback: () => void) {
  useEffect(() => {
    if (topic === null) return
    void dataProvider.subscribe(topic, callback)
    return () => void dataProvider.unsubscribe(topic, callback)
  }, [topic, callback])
}

/** Reloads the surrounding list when its records change. */
export function Live() {
  useEvents(`resource/${useResourceContext()}`, useRefresh())
  return null
}

/** Tells the user that another user has changed or deleted the record of the form. The user's input stays. */
export function News() {
  const resource = useResourceContext()
  const record = useRecordContext()
  const refresh = useRefresh()
  /** Version of the shown record when the last event arrived, or null if no event has arrived. */
  const [passed, setPassed] = useState<unknown>(null)
  const shown = useRef<unknown>(null)
  shown.current = record?._etag ?? null
  const hear = useCallback(() => setPassed(shown.current), [])
  useEvents(record === undefined ? null : `resource/${resource}/${record.id}`, hear)
  if (record === undefined || passed === null || passed !== record._etag) return null
  return (
    <Alert
      severity="info"
      action={
        <Button color="inherit" onClick={() => refresh()}>
          Show it
        </Button>
      }
    >
      Somebody has just changed this record.
    </Alert>
  )
}
