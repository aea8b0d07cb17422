# SPDX-License-Identifier: Apache-2.0
"""Two servers, two data directories, one PostgreSQL: keys are shared, and so is their end."""
import concurrent.futures
import json
import time

from kit import tap
from kit.binary import TOP, Database, Place


@tap.test
def a_key_revoked_at_one_server_is_refused_at_the_other_within_a_second():
    with Database() as database, Place() as first, Place() as second:
        store = f"--store.url={database.url}"
        first.start("up", store)
        second.start("up", store)
        made = json.loads(first.torg("key", "create", "shared", "--scope", "admin", "--json",
                                     store).stdout)
        tap.wait_until(lambda: second.call("KeyService/ListKeys", key=made["secret"])[0] == 200)
        tap.equal(first.torg("key", "revoke", made["key"]["id"], store).returncode, 0)
        began = time.monotonic()
        tap.wait_until(lambda: second.call("KeyService/ListKeys", key=made["secret"])[0] == 401)
        tap.comment(f"refused after {(time.monotonic() - began) * 1000:.0f} ms")
        tap.equal(time.monotonic() - began < tap.at_load(30), True, "soon")
        tap.equal((first.stop(), second.stop()), (0, 0))


@tap.test
def several_migrating_an_empty_store_at_once_do_it_once():
    with Database() as database, Place() as place:
        words = ["migrate", "--json", f"--store.url={database.url}"]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda _: place.torg(*words), range(4)))
        tap.equal([one.returncode for one in results], [0] * 4, [one.stderr for one in results])
        # They take turns, a migration each; none is applied twice.
        applied = [json.loads(one.stdout)["applied"] for one in results]
        tap.equal(sum(applied), len(list((TOP / "sql").glob("*.sql"))), applied)
        tap.equal(place.data.exists(), False, "a shared store needs no data directory")


@tap.test
def the_password_is_not_in_the_dump_nor_in_errors():
    with Place() as place:
        result = place.torg("migrate", "--store.url=postgres://torg:hunter2@127.0.0.1:1/torg")
        tap.equal(result.returncode, 5)
        tap.equal("hunter2" in result.stderr + result.stdout, False, "password in the error")


tap.main()
