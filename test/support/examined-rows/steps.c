/* An extension of SQLite with a function steps(): how many steps of its virtual machine the statements of the connection
   have run since the last call. node:sqlite does not show what sqlite3_stmt_status counts. The numbers are places in
   struct sqlite3_api_routines, which only grows at its end, so that no header is needed. */

#define CREATE_FUNCTION 45
#define RESULT_INT64 83
#define CONTEXT_DB_HANDLE 149
#define NEXT_STMT 152
#define STMT_STATUS 170

#define SQLITE_UTF8 1
#define STMTSTATUS_VM_STEP 4

typedef void (*routine)(void);
static const routine *api;

static void steps(void *context, int count, void **values) {
  void *(*handle)(void *) = (void *(*)(void *))api[CONTEXT_DB_HANDLE];
  void *(*next)(void *, void *) = (void *(*)(void *, void *))api[NEXT_STMT];
  int (*status)(void *, int, int) = (int (*)(void *, int, int))api[STMT_STATUS];
  void (*result)(void *, long long) = (void (*)(void *, long long))api[RESULT_INT64];
  void *database = handle(context);
  long long sum = 0;
  (void)count;
  (void)values;
  for (void *one = next(database, 0); one != 0; one = next(database, one))
    sum += (unsigned)status(one, STMTSTATUS_VM_STEP, 1);
  result(context, sum);
}

int sqlite3_extension_init(void *database, char **message, const void *routines) {
  int (*create)(void *, const char *, int, int, void *, void (*)(void *, int, void **), void *, void *);
  (void)message;
  api = routines;
  create = (int (*)(void *, const char *, int, int, void *, void (*)(void *, int, void **), void *, void *))
      api[CREATE_FUNCTION];
  return create(database, "steps", 0, SQLITE_UTF8, 0, steps, 0, 0);
}
