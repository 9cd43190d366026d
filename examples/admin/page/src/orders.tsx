import { useMediaQuery } from '@mui/material'
import {
  ArrayInput,
  AutocompleteInput,
  Create,
  Datagrid,
  DateField,
  DateInput,
  DateTimeInput,
  List,
  NumberField,
  NumberInput,
  ReferenceInput,
  SearchInput,
  SelectInput,
  SimpleForm,
  SimpleFormIterator,
  SimpleList,
  TextField,
} from 'react-admin'
import { Live } from './live'
import { VersionedEdit } from './VersionedEdit'

const STATUSES = ['Open', 'Paid', 'Sent'].map((id) => ({ id, name: id }))

const byName = (name: string) => ({ name_q: name })

const filters = [
  <SearchInput key="q" source="q" alwaysOn />,
  <SelectInput key="status" source="status" choices={STATUSES} />,
  <ReferenceInput key="customer" source="customerId" reference="customers">
    <AutocompleteInput label="Customer" filterToQuery={byName} />
  </ReferenceInput>,
  <DateInput key="from" source="placedAt_gte" label="Placed from" />,
]

/** The list also reads the customer and the number of lines of each order. */
const listed = { parameters: { select: '*,customer.name,lines.count' } }

export function OrderList() {
  const isSmall = useMediaQuery('(max-width: 600px)')
  return (
    <List
      filters={filters}
      sort={{ field: 'placedAt', order: 'DESC' }}
      queryOptions={{ meta: listed }}
      exporter={false}
    >
      <Live />
      {isSmall ? (
        <SimpleList
          primaryText={({ id, customer }) => `#${id} ${customer?.name ?? ''}`}
          secondaryText={({ placedAt }) => new Date(placedAt).toLocaleString()}
          tertiaryText={({ status }) => status}
        />
      ) : (
        <Datagrid rowClick="edit">
          <TextField source="id" label="Number" />
          <TextField source="customer.name" label="Customer" />
          <TextField source="status" />
          <DateField source="placedAt" showTime />
          <NumberField source="linesCount" label="Lines" sortBy="lines.count" />
        </Datagrid>
      )}
    </List>
  )
}

/** The button that removes a line is visible even if the pointer is elsewhere. */
const ALWAYS = { '& .RaSimpleFormIterator-action': { visibility: 'visible' } }

function OrderForm() {
  return (
    <SimpleForm>
      <ReferenceInput source="customerId" reference="customers">
        <AutocompleteInput label="Customer" filterToQuery={byName} fullWidth />
      </ReferenceInput>
      <SelectInput source="status" choices={STATUSES} defaultValue="Open" />
      <DateTimeInput source="placedAt" />
      <ArrayInput source="lines">
        <SimpleFormIterator inline disableReordering disableClear sx={ALWAYS}>
          <ReferenceInput source="productId" reference="products">
            <AutocompleteInput label="Product" filterToQuery={byName} sx={{ minWidth: 220 }} />
          </ReferenceInput>
          <NumberInput source="quantity" defaultValue={1} sx={{ width: 110 }} />
        </SimpleFormIterator>
      </ArrayInput>
    </SimpleForm>
  )
}

/**
 * Form of an order. One request reads the order with its lines, and one request saves them. Of each line, only the
 * members of the form are read. The form gives new lines every member of the read lines, without a value.
 */
export function OrderEdit() {
  return (
    <VersionedEdit parameters={{ select: '*,lines(id,productId,quantity)' }}>
      <OrderForm />
    </VersionedEdit>
  )
}

export function OrderNew() {
  return (
    <Create redirect="list">
      <OrderForm />
    </Create>
  )
}
