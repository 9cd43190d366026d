import { Button, CardContent, Stack, Typography } from '@mui/material'
import { Login, LoginForm, useLogin, useNotify } from 'react-admin'
import { ACCOUNTS } from '../../../secured/accounts'

/** The form, and the accounts of this example, which sign in by a click. */
export function SignIn() {
  const login = useLogin()
  const notify = useNotify()
  return (
    <Login>
      <LoginForm />
      <CardContent sx={{ pt: 0, maxWidth: 300 }}>
        <Typography variant="body2" color="text.secondary" gutterBottom>
          Accounts of this example, by user name and password:
        </Typography>
        <Stack spacing={0.5}>
          {ACCOUNTS.map(({ username, password, role, tenant }) => (
            <Button
              key={username}
              variant="outlined"
              size="small"
              sx={{ justifyContent: 'space-between', textAlign: 'start', textTransform: 'none' }}
              onClick={() =>
                login({ username, password }).catch((error: Error) => notify(error.message, { type: 'error' }))
              }
            >
              <span>
                <b>{username}</b> / {password}
              </span>
              <Typography component="span" variant="caption" color="text.secondary">
                {role} of {tenant}
              </Typography>
            </Button>
          ))}
        </Stack>
      </CardContent>
    </Login>
  )
}
