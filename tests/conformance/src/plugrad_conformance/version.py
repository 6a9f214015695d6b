"""The version of this kit, and of its reports."""

VERSION = "0.1.0"
#: MAJOR.MINOR of the JSON report: a new field raises the minor, any other change the major.
REPORT_SCHEMA = "1.2"
