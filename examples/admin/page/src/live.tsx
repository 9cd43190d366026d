import { Alert, Button } from '@mui/material'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useRecordContext, useRefresh, useResourceContext } from 'react-admin'
import { dataProvider } from './providers'

/** Calls back when something happens to records of a resource, or to one of them. */
function useEvents(topic: string | null, callback: () => void) {
  useEffect(() => {
    if (topic === null) return
    void dataProvider.subscribe(topic, callback)
    return () => void dataProvider.unsubscribe(topic, callback)
  }, [topic, callback])
}

/** Keeps the list around it as it is on the server. */
export function Live() {
  useEvents(`resource/${useResourceContext()}`, useRefresh())
  return null
}

/** Says that somebody else has changed or deleted the record of the form, and leaves what was typed alone. */
export function News() {
  const resource = useResourceContext()
  const record = useRecordContext()
  const refresh = useRefresh()
  /** The version on the page when the event came; null before one came. */
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
