import { Chip, Stack, Typography, useMediaQuery } from '@mui/material'
import { useCallback, useEffect, useState } from 'react'
import {
  AutocompleteInput,
  Create,
  Datagrid,
  List,
  NumberField,
  NumberInput,
  ReferenceInput,
  SearchInput,
  SimpleForm,
  SimpleList,
  TextField,
  TextInput,
  useGetList,
  useNotify,
  useRecordContext,
} from 'react-admin'
import { Live } from './live'
import { products } from './providers'
import { VersionedEdit } from './VersionedEdit'

const filters = [
  <SearchInput key="q" source="q" alwaysOn />,
  <NumberInput key="from" source="price_gte" label="Price from" />,
  <NumberInput key="to" source="price_lte" label="Price to" />,
  <ReferenceInput key="tag" source="tags.id" reference="tags">
    <AutocompleteInput label="Tag" filterToQuery={(name: string) => ({ name_q: name })} />
  </ReferenceInput>,
]

const euros = { style: 'currency', currency: 'EUR' } as const

export function ProductList() {
  const isSmall = useMediaQuery('(max-width: 600px)')
  return (
    <List filters={filters} sort={{ field: 'name', order: 'ASC' }} exporter={false}>
      <Live />
      {isSmall ? (
        <SimpleList
          primaryText={({ name }) => name}
          secondaryText={({ sku }) => sku}
          tertiaryText={({ price }) => new Intl.NumberFormat(undefined, euros).format(price)}
        />
      ) : (
        <Datagrid rowClick="edit">
          <TextField source="sku" label="SKU" />
          <TextField source="name" />
          <NumberField source="price" options={euros} />
        </Datagrid>
      )}
    </List>
  )
}

function Inputs() {
  return (
    <>
      <TextInput source="sku" label="SKU" />
      <TextInput source="name" />
      <NumberInput source="price" />
    </>
  )
}

/** The tags of a product. A click on a tag links or unlinks it at once, without saving the form. */
function Tags() {
  const record = useRecordContext()
  const notify = useNotify()
  const { data: tags = [] } = useGetList('tags', { sort: { field: 'name', order: 'ASC' } })
  const [linked, setLinked] = useState<ReadonlySet<unknown>>(new Set())
  const id = record?.id

  const load = useCallback(async () => {
    if (id === undefined) return
    const { items } = await products.related<{ id: number }>(Number(id), 'tags').list({ select: 'id', pageSize: 1000 })
    setLinked(new Set(items.map((tag) => tag.id)))
  }, [id])

  useEffect(() => {
    load().catch((error: Error) => notify(error.message, { type: 'error' }))
  }, [load, notify])

  async function toggle(tag: number) {
    const links = products.related(Number(id), 'tags')
    try {
      await (linked.has(tag) ? links.unlink(tag) : links.link(tag))
    } catch (error) {
      notify((error as Error).message, { type: 'error' })
    }
    await load()
  }

  return (
    <>
      <Typography variant="subtitle2" component="h2">
        Tags
      </Typography>
      <Stack direction="row" sx={{ gap: 1, flexWrap: 'wrap' }}>
        {tags.map((tag) => (
          <Chip
            key={tag.id}
            label={tag.name}
            color={linked.has(tag.id) ? 'primary' : 'default'}
            variant={linked.has(tag.id) ? 'filled' : 'outlined'}
            aria-pressed={linked.has(tag.id)}
            onClick={() => toggle(Number(tag.id))}
          />
        ))}
      </Stack>
    </>
  )
}

export function ProductEdit() {
  return (
    <VersionedEdit>
      <SimpleForm>
        <Inputs />
        <Tags />
      </SimpleForm>
    </VersionedEdit>
  )
}

export function ProductNew() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <Inputs />
      </SimpleForm>
    </Create>
  )
}
