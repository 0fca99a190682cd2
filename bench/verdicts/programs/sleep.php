<?php
usleep(20000);
echo "ok";
